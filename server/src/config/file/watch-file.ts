import { stat } from 'node:fs/promises';

/** Looks whether a file is another one than before. A link, such as that of a mounted ConfigMap, is followed. */
export interface FileWatch {
  /**
   * Returns whether the file was written, replaced or removed since this last returned `true`, and stayed as it is since the
   * look before: an editor may not have written all of it yet.
   */
  look(): Promise<boolean>;
}

export function watchFile(path: string): FileWatch {
  let known: string | undefined;
  let seen: string | undefined;
  return {
    async look() {
      const version = await versionOf(path);
      const isStable = version === seen;
      seen = version;
      if (!isStable || version === known) return false;
      known = version;
      return true;
    },
  };
}

async function versionOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs}`;
  } catch {
    return 'unreadable';
  }
}
