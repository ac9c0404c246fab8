# Digests and encodes a file.
sha256sum < lines
md5sum < lines
base64 lines > copy
wc -c < copy
