# Loaded by "make check-*" into prove: adds the counts of this run as one line "passed failed skipped" to the file named by
# WS_TOTALS, so that tools/test.sh can sum up. A script that died, or ran fewer tests than planned, counts its missing tests
# as failed, at least one.
package TapTotals;

use strict;
use warnings;
use TAP::Formatter::Base;

my $stock = \&TAP::Formatter::Base::summary;

sub count {
	my ($aggregate) = @_;
	my ($passed, $failed, $skipped) = (0, 0, 0);
	for my $p ($aggregate->parsers) {
		my $bad = scalar(my @f = $p->failed);
		my $planned = $p->tests_planned || 0;
		$bad += $planned - $p->tests_run if $planned > $p->tests_run;
		$bad = 1 if $bad == 0 && $p->has_problems;
		$failed += $bad;
		$skipped += scalar(my @s = $p->skipped);
		$skipped++ if $p->skip_all;
		$passed += scalar(my @p = $p->passed) - scalar(@s);
	}
	return ($passed, $failed, $skipped);
}

no warnings 'redefine';
*TAP::Formatter::Base::summary = sub {
	my ($self, $aggregate, @rest) = @_;
	if (my $file = $ENV{WS_TOTALS}) {
		open(my $fh, '>>', $file) or die "$file: $!\n";
		printf $fh "%d %d %d\n", count($aggregate);
		close($fh) or die "$file: $!\n";
	}
	return $stock->($self, $aggregate, @rest);
};

1;
