import ini from "ini";
const value = ini.parse("; c\nscope=global\n[database]\nuser = dbuser\nflag\nurl=http://x/?a=b\n[paths.default]\narray[]=first\narray[]=second\nq = \"a;b\"\n");
console.log(JSON.stringify(value));
console.log(ini.stringify({ top: true, sec: { a: 1, list: ["x", "y"], "k;ey": "v=w" }, deep: { er: { z: null } } }, { whitespace: true }));
