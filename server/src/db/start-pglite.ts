import { PGlite } from '@electric-sql/pglite';
import { btree_gist } from '@electric-sql/pglite/contrib/btree_gist';

/** A PGlite with the extensions that migrations use: on disk, in memory, or in memory from a dump. */
export function startPglite(options: { dataDir?: string; loadDataDir?: Blob }): PGlite {
  return new PGlite({ ...options, extensions: { btree_gist } });
}
