# What tools/check-* share: which files there are, C without its comments and strings, the self-test.
package CSource;

use strict;
use warnings;
use File::Basename qw(dirname);
use File::Spec;

our $top = File::Spec->rel2abs(dirname(dirname(__FILE__)));

# files(suffix...): paths from the top, sorted. Hidden folders and build folders (they hold a config.status) are left out.
sub files {
	my %want = map { $_ => 1 } @_;
	my (@todo, @found) = ('');
	while (@todo) {
		my $dir = shift @todo;
		opendir(my $dh, "$top/$dir") or die "$top/$dir: $!\n";
		for my $name (sort readdir $dh) {
			next if $name =~ /^\./;
			my $path = $dir eq '' ? $name : "$dir/$name";
			next if -l "$top/$path";
			if (-d "$top/$path") {
				push @todo, $path unless -e "$top/$path/config.status" || $path eq 'hpn-patches';
			} elsif ($path ne 'config.h' && $path ne 'paths.h' && $name =~ /\.(\w+)$/ && $want{$1}) {
				push @found, $path;
			}
		}
	}
	return sort @found;
}

sub slurp {
	my ($path) = @_;
	open(my $fh, '<', "$top/$path") or die "$top/$path: $!\n";
	local $/;
	my $text = <$fh> // '';
	return $text;
}

# scrub(text): the same C, comments replaced by spaces and what stands inside quotes by "_"; every newline stays. The text
# between the quotes of an #include stays too.
sub scrub {
	my ($text) = @_;
	my $blank = sub { my ($s, $with) = @_; $s =~ s/[^\n]/$with/g; $s };
	$text =~ s{
		(/\*.*?(?:\*/|\z) | //(?:\\\n|[^\n])*)
		| (^[ \t]*\#[ \t]*include[^\n]*)
		| (") ((?:\\.|[^"\\\n])*) ("?)
		| (') ((?:\\.|[^'\\\n])*) ('?)
	}{
		defined $1 ? $blank->($1, ' ')
		: defined $2 ? do { my $i = $2; $i =~ s{/\*.*?\*/|//.*}{}g; $i }
		: defined $3 ? $3 . $blank->($4, '_') . $5
		: $6 . $blank->($7, '_') . $8
	}gesmx;
	return $text;
}

# finish(name, findings...): prints them, exits.
sub finish {
	print map { "$_\n" } @_;
	exit(@_ ? 1 : 0);
}

# self_test(sub(path, text) -> findings, cases...): a case is [name, path, text, number of findings, optional regex].
sub self_test {
	my ($check, @cases) = @_;
	my $bad = 0;
	for my $case (@cases) {
		my ($name, $path, $text, $want, $like) = @$case;
		my @found = $check->($path, $text);
		next if @found == $want && (!defined $like || grep { $_ =~ $like } @found);
		print "self-test: $name: ", scalar(@found), " findings, not $want\n", map { "  $_\n" } @found;
		$bad = 1;
	}
	print scalar(@cases), " samples\n" unless $bad;
	exit $bad;
}

1;
