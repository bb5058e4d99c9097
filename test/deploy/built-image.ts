import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** As Docker's `config` of an image. */
export interface ImageConfig {
  readonly User: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly StopSignal: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** An image that was built without a container engine. */
export interface BuiltImage {
  readonly config: ImageConfig;
  /** The files of a container of the image. */
  readonly files: string;
  /** Command and environment that run `buildah` with the container: `run` and its options come next. */
  readonly container: string;
  readonly buildah: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/** What Node.js needs, and a shell for the build. No package manager, and no package's scripts have run. */
const packages = ['libc6', 'libstdc++6', 'libgcc-s1', 'busybox-static'];
const certificates = '/etc/ssl/certs';

/**
 * Builds the image from base images that it makes of Debian packages, in place of the public ones, and makes a container of it
 * whose files cannot be changed.
 *
 * @param parent folder for the images, which are deleted by `remove`
 */
export async function buildImage(parent: string): Promise<BuiltImage> {
  const folder = await mkdtemp(join(parent, 'image-'));
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  const environment = { HOME: homedir(), BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'vfs' };
  const buildah = async (...words: readonly string[]) => {
    const options = { env: { ...process.env, ...environment }, maxBuffer: 64 * 1024 * 1024 };
    return (await run('buildah', [...store, ...words], options)).stdout.trim();
  };
  const makeBase = async (name: string, archive: string, variables: Readonly<Record<string, string>>) => {
    const container = await buildah('from', 'scratch');
    await buildah('add', '--quiet', container, archive, '/');
    const env = Object.entries(variables).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
    if (env.length > 0) await buildah('config', ...env, container);
    await buildah('commit', '--quiet', '--rm', container, `localhost/${name}`);
  };
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const { build, runtime } = await baseArchives(folder);
    await makeBase('build', build, {
      PATH: '/usr/local/bin:/bin',
      HOME: '/root',
      // Where a proxy with a certificate of its own stands in front of the registry.
      NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? '',
    });
    await makeBase('runtime', runtime, {});
    const npmrc = join(homedir(), '.npmrc');
    await cp(npmrc, join(folder, 'npmrc')).catch(() => writeFile(join(folder, 'npmrc'), ''));
    const npmCache = (await run('npm', ['config', 'get', 'cache'])).stdout.trim();
    await mkdir(npmCache, { recursive: true });
    await buildah(
      'build',
      // The format of OCI has no health check.
      ...['--format', 'docker', '--tag', 'localhost/crossward'],
      ...['--build-arg', 'BUILD_IMAGE=localhost/build', '--build-arg', 'RUNTIME_IMAGE=localhost/runtime'],
      ...['--build-arg', 'REVISION=abc123', '--build-arg', 'SOURCE=https://example.org/crossward'],
      ...['--secret', `id=npmrc,src=${join(folder, 'npmrc')}`],
      ...['--volume', `${npmCache}:/root/.npm`, '--volume', `${certificates}:${certificates}:ro`],
      root,
    );
    const inspected = JSON.parse(await buildah('inspect', '--type', 'image', 'localhost/crossward'));
    const container = await buildah('from', 'localhost/crossward');
    const files = await buildah('mount', container);
    await makePlaces(files);
    // buildah has no option for it. It writes a mark to /run and removes it.
    await run('mount', ['--bind', files, files]);
    await run('mount', ['-o', 'remount,bind,ro', files]);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=755', 'none', join(files, 'run')]);
    return {
      config: inspected.Docker.config,
      files,
      container,
      buildah: ['buildah', ...store],
      environment,
      remove: async () => {
        for (const path of [join(files, 'run'), files]) await run('umount', [path]);
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function baseArchives(folder: string): Promise<{ build: string; runtime: string }> {
  const [debian, build, runtime] = ['debian.tar', 'build.tar', 'runtime.tar'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await run('mmdebstrap', ['--variant=extract', `--include=${packages.join(',')}`, 'bookworm', debian]);
  const files = join(folder, 'base');
  await mkdir(files);
  await run('tar', ['-xf', debian, '-C', files]);
  await run('tar', ['-cf', runtime, '-C', files, '--exclude=./bin/busybox', '--exclude=./dev/*', '.']);
  const local = join(files, 'usr', 'local');
  await mkdir(join(local, 'bin'), { recursive: true });
  await cp(await realpath(process.execPath), join(local, 'bin', 'node'));
  const npm = await npmFolder();
  await cp(npm, join(local, 'lib', 'npm'), { recursive: true });
  await writeFile(join(local, 'bin', 'npm'), '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n');
  await chmod(join(local, 'bin', 'npm'), 0o755);
  await symlink('busybox', join(files, 'bin', 'sh'));
  await run('tar', ['-cf', build, '-C', files, '--exclude=./dev/*', '.']);
  await rm(files, { recursive: true });
  return { build, runtime };
}

/** The folder of the npm that runs the tests, or is installed. */
async function npmFolder(): Promise<string> {
  const { stdout } = await run('sh', ['-c', 'command -v npm']);
  const program = process.env.npm_execpath ?? (await realpath(stdout.trim()));
  return dirname(dirname(program));
}

/** Places where buildah mounts something, which it creates itself if it can write. */
async function makePlaces(files: string): Promise<void> {
  for (const name of ['dev', 'proc', 'sys', 'run', 'etc/crossward'])
    await mkdir(join(files, name), { recursive: true });
  for (const name of ['etc/hosts', 'etc/resolv.conf', 'etc/crossward/crossward.yaml']) {
    await writeFile(join(files, name), '', { flag: 'a' });
  }
}
