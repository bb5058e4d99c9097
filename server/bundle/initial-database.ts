import packageFile from '../package.json' with { type: 'json' };

const version = packageFile.optionalDependencies['@electric-sql/pglite'];

/** What `initdb` of this version of PGlite makes, compressed. It has no table, no key and nothing of an installation. */
export const initialDatabase = new URL(`pglite-${version}.tar.zst`, import.meta.url);
