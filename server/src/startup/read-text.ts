import { readFile } from 'node:fs/promises';
import { ConfigurationError } from './configuration-error.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'is a folder, not a file',
  ENOTDIR: 'part of the path is not a folder',
  ENOSPC: 'no space left on the disk',
  EROFS: 'is on a read-only file system',
  EEXIST: 'exists and is not a folder',
};

/** Converts an error of the file system to one line with its code. */
export function fileError(path: string, error: unknown): ConfigurationError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return new ConfigurationError([`${path}: ${reasons[code] ?? 'cannot be used'} (${code})`], { cause: error });
}

/** @throws {ConfigurationError} when the file cannot be read or is not UTF-8 */
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
