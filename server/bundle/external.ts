/** Packages that are loaded from node_modules, because they read files next to their modules or are seldom used. */
export const external: readonly (string | RegExp)[] = [
  /^@electric-sql\/pglite/,
  '@scalar/fastify-api-reference',
  /^@opentelemetry\//,
  'pg-native',
  'pg-cloudflare',
];

/** @returns whether the bundle loads the module with this name from node_modules */
export function isExternal(name: string): boolean {
  return external.some((pattern) => (typeof pattern === 'string' ? pattern === name : pattern.test(name)));
}
