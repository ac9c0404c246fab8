"use strict";
// A document to JSON and back, changed on the way. Prints its length and a sum.
function document(size) {
  const people = [];
  for (let i = 0; i < size; i++) {
    people.push({
      id: i,
      name: `Person "${i}" \u00e9`,
      tags: ["a" + (i % 5), "b" + (i % 3)],
      address: { street: `Street ${i % 17}`, zip: String(10000 + i), geo: [i / 7, -i / 3] },
      active: i % 2 === 0,
      parent: i === 0 ? null : i >> 1,
    });
  }
  return { version: 1, people };
}

let text = JSON.stringify(document(250)), sum = 0;
for (let i = 0; i < 16; i++) {
  const parsed = JSON.parse(text);
  parsed.version++;
  for (const person of parsed.people) {
    sum = (sum + person.id * person.tags.length + person.address.geo[0]) % 1000003;
    if (person.active) person.tags.push("round" + i);
  }
  text = JSON.stringify(parsed, null, i % 3);
}
print(text.length + " " + sum.toFixed(6));
