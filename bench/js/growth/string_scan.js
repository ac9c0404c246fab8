"use strict";
// A string built by appending is read by index, sliced and split.
const n = /*n*/ 60000;
let s = "";
for (let i = 0; i < n; i++) s += String.fromCharCode(97 + (i % 23)) + (i % 11 === 0 ? "," : "");
let sum = 0;
for (let i = 0; i < s.length; i++) sum = (Math.imul(sum, 31) + s.charCodeAt(i)) | 0;
print(sum + ":" + s.split(",").length + ":" + s.replace(/[aeiou]/g, "").length);
