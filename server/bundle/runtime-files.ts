/** What the gateway reads while it runs, besides its bundle: each is where the repository has it. For packages and images. */
export const runtimeFiles: readonly string[] = [
  'server/{openapi,config.schema}.json',
  'server/bundle/{crossward,folder,gateway,start}.js',
  'server/src/cli/crossward.js',
  'server/src/**/*.{css,svg,sql,yaml}',
  'connectors/*/src/**/*.sql',
];

/** The names of files with the terms of a package that the bundle contains. Licences ask to pass them on. */
export const isNotice = (name: string): boolean => /^(licen[cs]e|notice|copying)/i.test(name);
