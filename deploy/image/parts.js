import { existsSync, readFileSync } from 'node:fs';

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const { version, license, description } = read('package.json');

function partOf([path, locked]) {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const [algorithm, hash = ''] = (locked.integrity ?? '').split('-');
  return {
    type: 'library',
    'bom-ref': path,
    name,
    version: locked.version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${locked.version}`,
    ...(locked.license && { licenses: [{ expression: locked.license }] }),
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }],
    }),
  };
}

const node = {
  type: 'platform',
  'bom-ref': 'node',
  name: 'node',
  version: process.versions.node,
  purl: `pkg:generic/node@${process.versions.node}`,
};
/** Those that make the bundle, or bring a Node.js, are not in the image. */
const isTool = (path) => /(?:^|\/)node_modules\/(?:@?rolldown|node-(?:bin-)?(?:darwin|linux|win))/.test(path);
const isThere = ([path, { link }]) => path.includes('node_modules/') && !link && existsSync(`${path}/package.json`);

/** Paths and entries of the lock file, of the packages that are installed and in the bundle or beside it. */
export function installedPackages() {
  return Object.entries(read('package-lock.json').packages).filter((entry) => isThere(entry) && !isTool(entry[0]));
}

/**
 * What an image contains (CycloneDX): the packages of the lock file that are in it, and Node.js. `npm sbom --omit dev` leaves out
 * what development needs too, such as Fastify, and lists packages for other machines.
 */
export const partsList = () => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: {
    component: {
      type: 'container',
      'bom-ref': 'crossward',
      name: 'crossward',
      version,
      description,
      licenses: [{ expression: license }],
    },
  },
  components: [node, ...installedPackages().map(partOf)],
});
