import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseError, errorCode } from './errors.ts';

/** Code of the error of `lockDataDir`. */
export const dataDirInUse = 'EBUSY';

export interface DataDirLock {
  release(): Promise<void>;
}

type Release = () => Promise<void>;

/**
 * Locks the folder for this process until `release`. The kernel frees the lock when the process ends. Throws a
 * `DatabaseError` if another process of this machine holds the lock. Does not work across machines that share a folder.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const name = `crossward-${createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex')
    .slice(0, 32)}`;
  const release = await take(name, dataDir);
  if (release === undefined) {
    throw new DatabaseError(
      `Another Crossward process uses the data directory ${dataDir}; stop it, or set CROSSWARD_DATA_DIR to another folder.`,
      dataDirInUse,
    );
  }
  return { release };
}

async function take(name: string, dataDir: string): Promise<Release | undefined> {
  if (process.platform === 'win32') return await listen(`\\\\.\\pipe\\${name}`);
  if (process.platform !== 'linux') return await listenOnFile(join(tmpdir(), `${name}.sock`));
  const release = await listen(`\0${name}`);
  if (release === undefined) return undefined;
  try {
    const releaseFolder = await takeAcrossContainers(dataDir);
    if (releaseFolder) return async () => void (await Promise.all([release(), releaseFolder()]));
  } catch (error) {
    await release();
    throw error;
  }
  await release();
  return undefined;
}

/** Uses a socket in the folder, which is visible wherever the folder is mounted, unlike an abstract socket. */
async function takeAcrossContainers(dataDir: string): Promise<Release | undefined> {
  // A plain descriptor, because a file handle is closed when it is garbage-collected.
  const folder = openSync(dataDir, 'r');
  const close = () => closeSync(folder);
  try {
    // The path of the folder can exceed the maximum length of a socket path.
    const release = await listenOnFile(`/proc/self/fd/${folder}/lock.sock`);
    if (release) return () => release().finally(close);
    close();
    return undefined;
  } catch (error) {
    close();
    // Some shared file systems do not support sockets.
    if (['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'EINVAL'].includes(errorCode(error) ?? '')) return async () => undefined;
    throw error;
  }
}

async function listenOnFile(path: string): Promise<Release | undefined> {
  const release = await listen(path);
  if (release !== undefined || (await answers(path))) return release;
  // Left behind by a killed process.
  await rm(path, { force: true });
  return await listen(path);
}

/** Returns `undefined` if the address is in use. */
function listen(path: string): Promise<Release | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once('error', (error) => (errorCode(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen({ path, exclusive: true }, () => {
      resolve(() => new Promise((closed) => server.close(() => closed())));
    });
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
