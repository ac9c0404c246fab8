import { Vector3, Matrix4, Quaternion, Euler, Box3, Sphere, Ray, Plane, Color, CatmullRomCurve3, BoxGeometry, TorusKnotGeometry, Object3D, PerspectiveCamera, Raycaster, Mesh, MeshBasicMaterial, MathUtils, Shape, ShapeGeometry, Frustum } from "three/src/Three.js";
const show = (x) => (Array.isArray(x) ? x : x.toArray()).map((n) => +n.toFixed(4)).join();
console.log(show(new Vector3(1, 2, 3).applyEuler(new Euler(0.1, 0.2, 0.3)).normalize()), show(new Matrix4().lookAt(new Vector3(5, 5, 5), new Vector3(), new Vector3(0, 1, 0))), show(new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), 1)));
const mesh = new Mesh(new BoxGeometry(1, 2, 3), new MeshBasicMaterial()); mesh.position.set(0, 0, -10); mesh.updateMatrixWorld();
const hit = new Raycaster(new Vector3(), new Vector3(0, 0, -1)).intersectObject(mesh)[0];
console.log(hit.distance, show(hit.point), hit.faceIndex, show(new Box3().setFromObject(mesh).getSize(new Vector3())));
console.log(new Color("hsl(200, 50%, 40%)").getHexString(), show(new CatmullRomCurve3([new Vector3(), new Vector3(1, 1, 0), new Vector3(2, 0, 1)]).getPointAt(0.4)), new TorusKnotGeometry(1, 0.3, 20, 4).attributes.position.count, new ShapeGeometry(new Shape().moveTo(0, 0).lineTo(2, 0).quadraticCurveTo(2, 2, 0, 2)).index.count);
const parent = new Object3D(), camera = new PerspectiveCamera(50, 2, 0.1, 100); parent.rotation.y = 1; parent.add(camera); camera.position.z = 4; parent.updateMatrixWorld(true);
console.log(show(camera.getWorldPosition(new Vector3())), show(camera.projectionMatrix), new Frustum().setFromProjectionMatrix(camera.projectionMatrix).containsPoint(new Vector3(0, 0, -5)), MathUtils.smoothstep(0.3, 0, 1), show(new Ray(new Vector3(), new Vector3(1, 0, 0)).intersectPlane(new Plane(new Vector3(-1, 0, 0), 3), new Vector3())));
