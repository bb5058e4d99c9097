import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

const lineBreak = 0x0a;

/**
 * Appends lines to a file, and waits until they are on its disk. The file is opened anew each time, so it can be renamed or
 * emptied in between; a new one can be read by its owner only.
 *
 * A process that was killed can have left half a line: it gets its line break first, and stays a line of its own.
 *
 * @param lines each with its line break
 * @throws the error of the file system. A part of the lines may be written.
 */
export async function appendLines(path: string, lines: string): Promise<void> {
  const file = await open(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    await file.appendFile(size > 0 && last[0] !== lineBreak ? `\n${lines}` : lines);
    await file.datasync();
    if (size === 0) await syncFolder(dirname(path));
  } finally {
    await file.close();
  }
}

/** A new file survives a power failure only if its folder is on the disk too. Windows opens no folder. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
