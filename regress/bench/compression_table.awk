# compression_table.awk NAME.csv: medians as a table for each set and cipher; auto/best: automatic by the best fixed level or off. Then
# what was aimed at, and what was reached.
NR > 1 {
	if (!(($2, $3) in seen)) { seen[$2, $3] = 1; table[++tables] = $2 SUBSEP $3 }
	if (!($1 in line)) { line[$1] = 1; row[++rows] = $1 }
	v[$1, $2, $3, $4] = $6
	if (!($4 in level)) { level[$4] = 1; column[++columns] = $4 }
}
function rank(l) { return l == "unlimited" ? 1e12 : l + 0 }
function judge(line, set, cipher, ratio) {
	sub(/@.*/, "", cipher)
	cells++
	if (ratio < 0.945) missed = missed sprintf("%s%s %s %s %.2f", missed == "" ? "" : ", ", line, set, cipher, ratio)
	else good++
	if (cells == 1 || ratio < least) { least = ratio; where = line " " set " " cipher }
}
function order(c) { return c == "off" ? 0 : c + 0 > 0 ? c + 0 : c == "auto" ? 10 : c == "zstd" ? 11 : c == "stock-off" ? 12 : 13 }
END {
	for (i = 2; i <= rows; i++)
		for (j = i; j > 1 && rank(row[j - 1]) > rank(row[j]); j--) { x = row[j]; row[j] = row[j - 1]; row[j - 1] = x }
	for (i = 2; i <= columns; i++)
		for (j = i; j > 1 && order(column[j - 1]) > order(column[j]); j--) { x = column[j]; column[j] = column[j - 1]; column[j - 1] = x }
	for (t = 1; t <= tables; t++) {
		split(table[t], k, SUBSEP)
		sub(/@.*/, "", k[2])
		printf "%s%s, %s: KB/s of the file\n%-10s", (t > 1) ? "\n" : "", k[1], k[2], "line"
		for (c = 1; c <= columns; c++) printf " %10s", column[c]
		printf " %9s %9s %9s\n", "auto/best", "zstd/best", "stock"
		split(table[t], k, SUBSEP)
		for (r = 1; r <= rows; r++) {
			best = any = 0
			for (c = 1; c <= columns; c++) {
				key = row[r] SUBSEP table[t] SUBSEP column[c]
				if (!(key in v)) continue
				any = 1
				if (order(column[c]) < 10 && v[key] > best) best = v[key]
			}
			if (!any) continue
			printf "%-10s", row[r]
			for (c = 1; c <= columns; c++) {
				key = row[r] SUBSEP table[t] SUBSEP column[c]
				printf " %10s", key in v ? v[key] : "-"
			}
			a = row[r] SUBSEP table[t] SUBSEP
			if (((a "auto") in v) && best) judge(row[r], k[1], k[2], v[a "auto"] / best)
			if (row[r] == "unlimited" && ((a "auto") in v) && ((a "off") in v))
				own = own sprintf(" %s %s %.2f", k[2], k[1], v[a "auto"] / v[a "off"])
			if (row[r] == "unlimited" && ((a "stock-auto") in v) && ((a "stock-off") in v))
				stock = stock sprintf(" %s %.2f", k[1], v[a "stock-auto"] / v[a "stock-off"])
			printf " %9s %9s %9s\n", ((a "auto") in v) && best ? sprintf("%.2f", v[a "auto"] / best) : "-",
				((a "zstd") in v) && best ? sprintf("%.2f", v[a "zstd"] / best) : "-",
				((a "stock-auto") in v) && ((a "stock-off") in v) ? sprintf("%.2f", v[a "stock-auto"] / v[a "stock-off"]) : "-"
		}
	}
	if (cells)
		printf "\nauto/best, at least 0.95: %d of %d cells; least %.2f (%s)%s%s\n", good, cells, least, where, missed != "" ? "; below: " : "", missed
	gsub(/@[^ ]*/, "", own)
	if (own != "") print "unlimited, auto/off between our own ends, at least 0.97:" own
	if (stock != "") print "unlimited, auto/off to a stock server, at least 0.80:" stock
}
