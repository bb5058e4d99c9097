import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** Test files by what they need: `foo.db.test.ts` and so on. */
const files = (...needs: string[]) =>
  ['server', 'connector-kit', 'connectors', 'client', 'test'].flatMap((folder) =>
    needs.map((need) => `${folder}/**/*.${need}.test.ts`),
  );

/** The tag of the scenarios that run in front of every kind of EHR. */
const everyEhr = 'every-ehr';
const withMarkedScenarios = globSync(files('acceptance'), { exclude: ['**/node_modules/**'] }).filter((file) =>
  readFileSync(file, 'utf8').includes(`'${everyEhr}'`),
);
/** What is about FHIR servers. */
const onFhirAlone = 'test/fhir/*.acceptance.test.ts';

function inFrontOf(ehrKind: 'fhir' | 'medplum') {
  return {
    extends: true as const,
    test: {
      name: ehrKind,
      include: [...withMarkedScenarios, onFhirAlone],
      runner: 'test/every-ehr-runner.ts',
      globalSetup: 'test/global-setup.ts',
      provide: { databaseKind: 'postgresql' as const, ehrKind },
    },
  };
}

export default defineConfig({
  test: {
    // Long, so that a busy machine fails nothing: whoever waits goes on as soon as the condition holds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // The tests wait for databases, processes and clocks about as long as they compute: more at a time than cores.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // The files of a worker share one process: modules load once.
    isolate: false,
    tags: [{ name: everyEhr, description: 'runs in front of the sandboxes and of each FHIR server' }],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: files('*').map((pattern) => pattern.replace('*.*.test', '*.test')),
          exclude: [...configDefaults.exclude, ...files('db', 'process', 'conformance', 'acceptance', 'chaos')],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgresql',
          include: files('db', 'process', 'conformance', 'acceptance'),
          exclude: [...configDefaults.exclude, onFhirAlone],
          globalSetup: 'test/global-setup.ts',
          provide: { databaseKind: 'postgresql', ehrKind: 'sandbox' },
        },
      },
      {
        extends: true,
        test: {
          name: 'pglite',
          include: [...files('acceptance'), 'server/src/db/*.db.test.ts', 'test/conformance/sandbox.*.test.ts'],
          exclude: [...configDefaults.exclude, onFhirAlone],
          globalSetup: 'test/global-setup.ts',
          provide: { databaseKind: 'pglite', ehrKind: 'sandbox' },
        },
      },
      inFrontOf('fhir'),
      inFrontOf('medplum'),
      {
        extends: true,
        test: {
          name: 'chaos',
          include: files('chaos'),
          globalSetup: 'test/global-setup.ts',
          provide: { databaseKind: 'postgresql', ehrKind: 'sandbox' },
        },
      },
    ],
  },
});
