#!/bin/bash
# plot.sh FILE.csv: draws what run.sh measured: FILE-rate.svg (MB/s) and FILE-time.svg (ms), with gnuplot; without it, nothing.
command -v gnuplot >/dev/null || exit 0
csv=$1
rows=$(mktemp) || exit 1
trap 'rm -f "$rows"' EXIT

# draw UNIT SUFFIX LABEL
draw() {
	awk -F, -v unit="$1" 'NR > 1 && $2 == unit { printf "%s,%s,%s\n", $1, $3, $4 }' "$csv" >"$rows"
	[ -s "$rows" ] || return
	gnuplot <<-END
		set terminal svg size 1000,460 font "sans,12" background "white"
		set output "${csv%.csv}-$2.svg"
		set datafile separator ","
		set style data histograms
		set style fill solid 0.8 noborder
		set boxwidth 0.9
		set ylabel "$3"
		set yrange [0:*]
		set grid ytics
		set xtics rotate by -40 nomirror
		plot "$rows" using 2:xtic(1) title "Wirespeed SSH" lc rgb "#1f6f9f", "" using 3 title "OpenSSH" lc rgb "#c0873f"
	END
}
draw MB/s rate "MB/s (more is better)"
draw ms time "ms (less is better)"
