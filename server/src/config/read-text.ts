import { readFile } from 'node:fs/promises';
import { ConfigurationError } from './configuration-error.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'is a folder, not a file',
  ENOTDIR: 'a parent is not a folder',
  ENOSPC: 'no space left on the disk',
  EROFS: 'the file system is read-only',
  EEXIST: 'exists and is not a folder',
};

/** Turns a file system error into one line with the system's error code. */
export function fileError(path: string, error: unknown): ConfigurationError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return new ConfigurationError([`${path}: ${reasons[code] ?? 'cannot be used'} (${code})`], { cause: error });
}

/** @throws {ConfigurationError} if the file cannot be read or is not UTF-8 */
export async function readText(path: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw fileError(path, error);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigurationError([`${path}: is not UTF-8 text`]);
  }
}
