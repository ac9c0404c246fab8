# A large here-document with expansions in it.
x=value
cat <<END >copy
@HEREDOC@
END
wc -c <copy
