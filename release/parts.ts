import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isNotice } from '../server/bundle/runtime-files.ts';
import { root, run } from './npm-pack.ts';

/** Their terms are met by the notices that the package contains. */
const permissive = /^(MIT(-0)?|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|CC0-1\.0|BlueOak-1\.0\.0|Unlicense|Python-2\.0)$/;

interface Part {
  /** `name@version` */
  readonly 'bom-ref': string;
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[];
}
interface Bom {
  readonly serialNumber: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly components: readonly Part[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}
export type Parts = Pick<Bom, 'components'>;

interface Locked {
  readonly version: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly cpu?: string | readonly string[];
  readonly devDependencies?: object;
}
interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lock;

/** Where the parts of others are installed, by `name@version`. */
const folders = new Map(
  Object.entries(lock.packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, { version }]) => [`${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`, path]),
);

/**
 * The parts that the lock file gives the package `crossward`, as npm lists them in CycloneDX. Without time and random number,
 * so that the same commit gives the same list. The Node.js that it runs on is not in it.
 */
export async function listParts(version: string): Promise<Parts> {
  const folder = await mkdtemp(join(tmpdir(), 'crossward-parts-'));
  try {
    const packages = productionPackages();
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
    await writeFile(join(folder, 'package.json'), JSON.stringify(packages['']));
    const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
    const options = { cwd: folder, maxBuffer: 100_000_000, shell: process.platform === 'win32' };
    const { serialNumber: _, metadata, ...bom } = ofGateway(JSON.parse((await run('npm', words, options)).stdout));
    const { timestamp: __, ...described } = metadata;
    const component = { type: 'application', name: 'crossward', version, purl: `pkg:npm/crossward@${version}` };
    return { ...bom, metadata: { ...described, component } } as Parts;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Without what only the client needs. */
function ofGateway({ components, dependencies, ...bom }: Bom): Bom {
  const found = new Set(components.map(nameOf).filter((name) => name.startsWith('crossward@')));
  // A set passes on what is added meanwhile.
  for (const name of found) {
    for (const { dependsOn } of dependencies.filter(({ ref }) => ref === name))
      for (const one of dependsOn) found.add(one);
  }
  return {
    ...bom,
    components: components.filter((part) => found.has(nameOf(part))),
    dependencies: dependencies.filter(({ ref }) => found.has(ref)),
  };
}

/** `npm sbom --omit dev` leaves out what development needs too, such as Fastify. So development is taken out first. */
function productionPackages(): Record<string, Locked> {
  // What is optional and for one kind of machine: Node.js, and what makes the bundle.
  const kept = Object.entries(lock.packages).filter(([, { dev, optional, cpu }]) => !dev && !(optional && cpu));
  const packages = kept.map(([path, { devDependencies: _, ...rest }]) => [path, rest]);
  return { ...Object.fromEntries(packages), '': { name: 'parts', version: '0.0.0', dependencies: { crossward: '*' } } };
}

/**
 * One line for each part that others have written.
 *
 * @throws if a licence has terms that nobody has looked at
 */
export function licenceList({ components }: Parts): string {
  const lines = foreign(components).map((part) => [nameOf(part), licenceOf(part)] as const);
  const unknown = lines.filter(([, licence]) => !isPermissive(licence));
  if (unknown.length > 0)
    throw new Error(`Read these licences first: ${unknown.map((line) => line.join(' ')).join(', ')}`);
  return lines.map(([name, licence]) => `${name} ${licence}\n`).join('');
}

/** The notices that the licences ask to pass on with the bundle. */
export async function notices({ components }: Parts): Promise<string> {
  const texts = foreign(components).map(async (part) => {
    const folder = join(root, folders.get(nameOf(part)) ?? '');
    const files = (await readdir(folder)).filter(isNotice).sort();
    const found = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
    return `${nameOf(part)} (${licenceOf(part)})\n\n${found.join('\n')}`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

/** Those that are not of this repository, by name. */
function foreign(components: readonly Part[]): Part[] {
  return components.filter((part) => folders.has(nameOf(part))).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function licenceOf({ licenses = [] }: Part): string {
  return licenses.map(({ license, expression }) => license?.id ?? expression ?? 'unknown').join(' AND ') || 'unknown';
}

function nameOf(part: Part): string {
  return part['bom-ref'];
}

/** Of licences joined by OR, one is enough. */
function isPermissive(licence: string): boolean {
  return licence
    .split(' AND ')
    .every((part) => part.split(' OR ').some((one) => permissive.test(one.replace(/[()]/g, ''))));
}
