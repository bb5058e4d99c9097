// Bundles the gateway and the command line, and further modules that share theirs:
// node build.ts <folder> <whether with source maps: true or false> [<path of a module> …]
import { existsSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { zstdCompressSync } from 'node:zlib';
import { build } from 'rolldown';
import { external } from './external.ts';

/** Bundles to keep, because a running gateway can still load parts of the one that it started from. */
const kept = 3;

/** URLs in the sources: of a program that a thread runs, which is in the bundle, or of the module itself. */
const moduleUrl = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)|import\.meta\.url/g;

/** The page's own script, as one text. */
const referenceScript = /^var (standalone_default) = (".*");$/m;

const getHttp = '\0http';
const noHttp2 = '\0no http2';
const usedOfUndici = '\0undici';
/** Code in place of modules of Node.js and packages that load what the gateway does not use. Together they save 20 MB. */
const virtualModules: ReadonlyMap<string, string> = new Map([
  // An `import` of node:http reads all its exports, and so loads its WebSocket client.
  [getHttp, "module.exports = process.getBuiltinModule('node:http')"],
  // The gateway speaks HTTP/1.1, with its clients and with EHRs.
  [noHttp2, 'module.exports = {}'],
  // Neither fetch nor WebSocket, caches and mocks. The build fails if the sources import anything else.
  [
    usedOfUndici,
    `import api from 'undici/lib/api/index.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as buildConnector } from 'undici/lib/core/connect.js';
Object.assign(Dispatcher.prototype, api);`,
  ],
]);

const [, , target = '', sourceMaps, ...more] = process.argv;
const draft = `${target}.${process.pid}`;
await bundle(draft);
await publish();
await removeOldBundles();

async function bundle(folder: string): Promise<void> {
  await build({
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    platform: 'node',
    // Its `main` is UMD, whose `require` of its own files a bundle does not see.
    resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
    input: {
      gateway: 'server/src/main.ts',
      crossward: 'server/src/cli/main.ts',
      'password-worker': 'server/src/console/sign-in/password-worker.ts',
      ...Object.fromEntries(more.map((path) => [basename(path, '.ts'), path])),
    },
    external: [...external],
    plugins: [
      {
        name: 'paths of the sources',
        transform: {
          filter: { id: /\.ts$/, code: /import\.meta\.url/ },
          // The files next to the sources stay where they are.
          handler: (code, id) => ({
            code: code.replaceAll(moduleUrl, (_, thread) =>
              thread === undefined
                ? `new URL('${relativeUrl(folder, id)}', import.meta.url).href`
                : `new URL('./${thread}.js', import.meta.url)`,
            ),
            map: null,
          }),
        },
      },
      {
        name: 'modules that load less',
        resolveId: {
          filter: { id: /^(node:http2?|undici)$/ },
          handler: (id, importer = '') => {
            if (id === 'undici') return usedOfUndici;
            if (id === 'node:http') return getHttp;
            return /[\\/]fastify[\\/]/.test(importer) ? noHttp2 : undefined;
          },
        },
        load: { filter: { id: /^\0/ }, handler: (id) => virtualModules.get(id) },
      },
      // For its validator, which the gateway does not use.
      {
        name: 'value sets of FHIR',
        load: { filter: { id: /[\\/]fhir[\\/]profiles[\\/]valuesets\.json$/ }, handler: () => '{}' },
      },
      // HTTP/2, and an experimental parser, which Node.js leaves out too.
      {
        name: 'parts of undici',
        load: {
          filter: { id: /[\\/]undici[\\/]lib[\\/]dispatcher[\\/](client-h2|parser-h1)\.js$/ },
          handler: () => 'module.exports = { getMiloEnabled: () => false }',
        },
      },
      {
        name: 'script of the API reference',
        transform: {
          filter: { id: /[\\/]fastify-api-reference[\\/]dist[\\/]index\.js$/ },
          handler: (code) => ({ code: code.replace(referenceScript, compressed), map: null }),
        },
      },
      // V8 stores a text of ASCII in half the memory.
      {
        name: 'ASCII',
        generateBundle(_options, files) {
          for (const file of Object.values(files)) {
            if (file.type === 'chunk') file.code = file.code.replaceAll(/[^\0-\x7f]/g, escaped);
          }
        },
      },
    ],
    output: {
      dir: folder,
      format: 'esm',
      sourcemap: sourceMaps === 'true',
      comments: false,
      // V8 keeps the text of a module as long as the module. Names of functions stay, for stacks.
      minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    },
  });
}

/** Four megabytes that few gateways send, as 1.5 that are unpacked when the module is loaded. */
function compressed(_statement: string, name: string, literal: string): string {
  const packed = zstdCompressSync(runInNewContext(literal)).toString('base64');
  return `import { zstdDecompressSync } from 'node:zlib';
var ${name} = zstdDecompressSync(Buffer.from('${packed}', 'base64')).toString();`;
}

function relativeUrl(from: string, to: string): string {
  return relative(from, to).replaceAll('\\', '/');
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Renames the complete bundle, so that nobody starts half of one. */
async function publish(): Promise<void> {
  try {
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true });
    // Another process was faster.
    if (!existsSync(target)) throw error;
  }
}

/** Removes what belongs to old bundles: names begin with that of the bundle. */
async function removeOldBundles(): Promise<void> {
  const parent = dirname(target);
  const times = new Map<string, number>();
  const names = await readdir(parent);
  for (const name of names) {
    const { mtimeMs } = await stat(join(parent, name)).catch(() => ({ mtimeMs: 0 }));
    times.set(bundleOf(name), Math.max(mtimeMs, times.get(bundleOf(name)) ?? 0));
  }
  const current = [...times].toSorted(([, a], [, b]) => b - a).slice(0, kept);
  const isCurrent = new Set(current.map(([bundle]) => bundle));
  const old = names.filter((name) => !isCurrent.has(bundleOf(name)));
  await Promise.all(old.map((name) => rm(join(parent, name), { recursive: true, force: true })));
}

function bundleOf(name: string): string {
  return name.split('.', 1)[0] ?? name;
}
