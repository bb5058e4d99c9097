// Collects what the image contains in a folder: node collect.js <folder of the bundle> <target>. The packages that are in the bundle are
// not copied beside it: the list of parts has them, for scanners, and THIRD-PARTY-LICENCES.txt their terms.
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isNotice, runtimeFiles } from '../../server/bundle/runtime-files.ts';
import { installedPackages, partsList } from './parts.js';

const [, , bundle, target] = process.argv;
const root = process.cwd();
const pglite = 'node_modules/@electric-sql/pglite';
/** Of PGlite, what Node.js does not load, and extensions that the gateway does not use. */
const isUnused = (path) => /\.(?:map|cjs|d\.[cm]?ts)$|(?<!btree_gist)\.tar\.gz$/.test(path);

for (const path of globSync([...runtimeFiles, 'deploy/image/healthy.js', 'LICENSE', 'package.json'], { cwd: root })) {
  mkdirSync(join(target, dirname(path)), { recursive: true });
  cpSync(path, join(target, path));
}
cpSync(bundle, join(target, 'server/dist/packed'), { recursive: true });
cpSync(pglite, join(target, pglite), { recursive: true, filter: (path) => !isUnused(path) });
const { version, type } = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync(join(target, 'server/package.json'), JSON.stringify({ version, type }));
writeFileSync(join(target, 'sbom.cdx.json'), `${JSON.stringify(partsList(), null, 2)}\n`);
writeFileSync(
  join(target, 'THIRD-PARTY-LICENCES.txt'),
  installedPackages()
    .map(noticeOf)
    .join(`\n${'-'.repeat(80)}\n\n`),
);

function noticeOf([path, { version, license }]) {
  const texts = readdirSync(path).filter(isNotice).sort();
  return [`${path} ${version} (${license})\n`, ...texts.map((name) => readFileSync(join(path, name), 'utf8'))].join(
    '\n',
  );
}
