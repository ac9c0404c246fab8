import { mat4, vec3, quat, mat3, vec2 } from "gl-matrix";
const round = (a) => Array.from(a, (x) => +x.toFixed(4));
const m = mat4.create();
mat4.perspective(m, Math.PI / 3, 16 / 9, 0.1, 100); mat4.rotateY(m, m, 0.7); mat4.translate(m, m, [1, 2, -3]);
console.log(round(m), round(mat4.invert(mat4.create(), m)), mat4.determinant(m).toFixed(5));
const q = quat.fromEuler(quat.create(), 10, 20, 30);
console.log(round(q), round(vec3.transformQuat(vec3.create(), [1, 0, 0], q)), round(quat.slerp(quat.create(), q, quat.create(), 0.3)), mat3.str(mat3.fromQuat(mat3.create(), [0, 0, 0, 1])), vec2.angle([1, 0], [0, 1]));
