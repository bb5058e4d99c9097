/** Packages that are loaded from node_modules, because they read files next to their modules, or are not needed. */
export const external: readonly (string | RegExp)[] = [/^@electric-sql\/pglite/, 'pg-native', 'pg-cloudflare'];
