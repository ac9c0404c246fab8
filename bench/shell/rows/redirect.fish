# A builtin whose output is redirected.
for scale in @SCALE@
  for a in 0 1 2 3 4 5 6 7 8 9; for b in 0 1 2 3 4 5 6 7 8 9; for c in 0 1 2 3 4 5 6 7 8 9
    echo x >/dev/null
  end; end; end
end
echo "999"
