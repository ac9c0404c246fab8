"use strict";
// Lines of a log by regular expressions: matching with groups, replacing with a function, splitting. Prints what was counted.
const METHODS = ["GET", "POST", "PUT", "DELETE"];
const lines = [];
for (let i = 0; i < 4000; i++) {
  const path = `/items/${i % 97}/${"abcdef"[i % 6]}?page=${i % 13}&sort=name`;
  lines.push(`10.0.${i % 7}.${i % 251} - [2024-0${1 + (i % 9)}-1${i % 10}] "${METHODS[i % 4]} ${path}" ${200 + (i % 5)} ${i * 37}`);
}

const LINE = /^(?<host>\d+(?:\.\d+){3}) - \[(\d{4})-(\d\d)-(\d\d)\] "([A-Z]+) ([^ "?]+)(?:\?([^ "]*))?" (\d{3}) (\d+)$/;
const counts = new Map();
let bytes = 0, replaced = 0;
for (const line of lines) {
  const found = LINE.exec(line);
  if (found === null) throw new Error(line);
  const key = found[5] + found[6].replace(/\d+/g, (digits) => "#" + digits.length);
  counts.set(key, (counts.get(key) ?? 0) + 1);
  bytes += Number(found[9]);
  for (const pair of found[7].split(/[&;]/)) if (/^page=(?:[02468]|1[02])$/.test(pair)) replaced++;
}
print(counts.size + " " + bytes + " " + replaced);
