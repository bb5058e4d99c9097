import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseError, errorCode } from './errors.ts';

export interface DataDirLock {
  release(): Promise<void>;
}

type Release = () => Promise<void>;

/**
 * Takes the folder for this process until `release` or its end, however it ends: the kernel frees the lock. Throws a
 * `DatabaseError` when another process of this machine has it. Machines that share a folder over a network do not see
 * each other.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const name = `crossward-${createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex')
    .slice(0, 32)}`;
  const release = await take(name, dataDir);
  if (release === undefined) throw new DatabaseError(`Another Crossward process uses the data directory ${dataDir}.`);
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

/** Abstract sockets end at the network namespace; a socket in the folder itself is seen wherever the folder is mounted. */
async function takeAcrossContainers(dataDir: string): Promise<Release | undefined> {
  // A plain descriptor: a file handle would be closed when nobody refers to it any more.
  const folder = openSync(dataDir, 'r');
  const close = () => closeSync(folder);
  try {
    // The folder's own path may be longer than a socket's may be.
    const release = await listenOnFile(`/proc/self/fd/${folder}/lock.sock`);
    if (release) return () => release().finally(close);
    close();
    return undefined;
  } catch (error) {
    close();
    // Some shared file systems hold no sockets.
    if (['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'EINVAL'].includes(errorCode(error) ?? '')) return async () => undefined;
    throw error;
  }
}

async function listenOnFile(path: string): Promise<Release | undefined> {
  const release = await listen(path);
  if (release !== undefined || (await answers(path))) return release;
  // Left by a process that was killed.
  await rm(path, { force: true });
  return await listen(path);
}

/** `undefined`: the address is taken. */
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
