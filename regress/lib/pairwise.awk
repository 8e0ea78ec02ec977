# pairwise.awk: rows that cover every pair of values of two factors (ssh.sh: pairwise). Greedy: each row starts with a pair not yet
# covered and takes for each further factor the value that covers most new pairs. Where several do, they take turns; of a factor
# written with = before its name the first is taken (what costs time stands last). With -v every=1 all combinations.
/^!/ {
	split(substr($1, 2), a, "=")
	split($2, b, "=")
	bad[a[1], a[2], b[1], b[2]] = bad[b[1], b[2], a[1], a[2]] = 1
	next
}
NF > 1 {
	names[++n] = $1
	steady[n] = sub(/^=/, "", names[n])
	count[n] = NF - 1
	for (i = 2; i <= NF; i++)
		value[n, i - 1] = $i
}

function is_bad(f, v, g, w) { return (names[f], value[f, v], names[g], value[g, w]) in bad }

function show(	f, line) {
	line = value[1, row[1]]
	for (f = 2; f <= n; f++)
		line = line " " value[f, row[f]]
	print line
}

function all_from(f,	v, g, fits) {
	if (f > n) {
		show()
		return
	}
	for (v = 1; v <= count[f]; v++) {
		fits = 1
		for (g = 1; g < f; g++)
			if (is_bad(g, row[g], f, v))
				fits = 0
		if (fits) {
			row[f] = v
			all_from(f + 1)
		}
	}
}

# The value of factor f which fits what the row has already and covers most; 0 if none fits.
function best(f,	v, t, g, gain, most, chosen) {
	most = -1
	chosen = 0
	for (t = 0; t < count[f]; t++) {
		v = steady[f] ? t + 1 : (t + turn) % count[f] + 1
		gain = 0
		for (g = 1; g <= n && gain >= 0; g++) {
			if (!row[g] || g == f)
				continue
			if (is_bad(g, row[g], f, v))
				gain = -1
			else if ((g, row[g], f, v) in open)
				gain++
		}
		if (gain > most) {
			most = gain
			chosen = v
		}
	}
	return chosen
}

function mark(	f, g) {
	for (f = 1; f <= n; f++)
		for (g = 1; g <= n; g++)
			if (f != g)
				delete open[f, row[f], g, row[g]]
}

function most_pairs(	f, g, most) {
	for (f = 1; f <= n; f++)
		for (g = f + 1; g <= n; g++)
			if (count[f] * count[g] > most)
				most = count[f] * count[g]
	return most
}

END {
	if (every) {
		all_from(1)
		exit
	}
	for (f = 1; f <= n; f++)
		for (g = f + 1; g <= n; g++)
			for (v = 1; v <= count[f]; v++)
				for (w = 1; w <= count[g]; w++)
					if (!is_bad(f, v, g, w))
						open[f, v, g, w] = open[g, w, f, v] = 1
	# The two factors with the most pairs first: their rows take those of the others along.
	for (size = most_pairs(); size > 0; size--)
		for (f = 1; f <= n; f++)
			for (g = f + 1; g <= n; g++)
				if (count[f] * count[g] == size)
					for (v = 1; v <= count[f]; v++)
						for (w = 1; w <= count[g]; w++)
							queue[++pairs] = f " " v " " g " " w
	for (p = 1; p <= pairs; p++) {
		split(queue[p], q, " ")
		if (!((q[1], q[2], q[3], q[4]) in open))
			continue
		for (f = 1; f <= n; f++)
			row[f] = 0
		row[q[1]] = q[2]
		row[q[3]] = q[4]
		dead = 0
		for (f = 1; f <= n && !dead; f++)
			if (!row[f] && !(row[f] = best(f)))
				dead = 1
		if (dead) {
			print "pairwise: no row for " queue[p] >"/dev/stderr"
			exit 1
		}
		mark()
		turn++
		show()
	}
}
