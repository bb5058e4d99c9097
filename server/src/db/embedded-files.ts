import { join } from 'node:path';

/** Path of the embedded database in a data directory. */
export function embeddedFiles(dataDir: string): string {
  return join(dataDir, 'pglite');
}
