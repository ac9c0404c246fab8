# Lines that are parsed and never run.
if false; then
@LINES@
fi
echo parsed
