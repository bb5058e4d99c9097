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

interface On {
  readonly databaseKind: 'postgresql' | 'pglite';
  readonly ehrKind?: 'sandbox' | 'fhir' | 'medplum';
  readonly include: string[];
  readonly exclude?: readonly string[];
}

function project(name: string, { databaseKind, ehrKind = 'sandbox', include, exclude = [] }: On) {
  return {
    extends: true as const,
    test: {
      name,
      include,
      exclude: [...configDefaults.exclude, ...exclude],
      provide: { databaseKind, ehrKind },
      ...(ehrKind === 'sandbox' ? {} : { runner: 'test/every-ehr-runner.ts' }),
    },
  };
}

const inFrontOf = (ehrKind: 'fhir' | 'medplum') =>
  project(ehrKind, { databaseKind: 'postgresql', ehrKind, include: [...withMarkedScenarios, onFhirAlone] });

const unit = {
  extends: true as const,
  test: {
    name: 'unit',
    include: ['{server,connector-kit,connectors,client,test}/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...files('db', 'process', 'conformance', 'acceptance', 'chaos')],
  },
};

export default defineConfig({
  test: {
    globalSetup: 'test/global-setup.ts',
    // Long, so that a busy machine fails nothing: whoever waits goes on as soon as the condition holds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // The tests wait for databases, processes and clocks about as long as they compute: more at a time than cores.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // The files of a worker share one process: modules load once, and so does what the FHIR servers begin with.
    isolate: false,
    tags: [{ name: everyEhr, description: 'runs in front of the sandboxes and of each FHIR server' }],
    projects: [
      unit,
      project('postgresql', {
        databaseKind: 'postgresql',
        include: files('db', 'process', 'conformance', 'acceptance'),
        exclude: [onFhirAlone],
      }),
      project('pglite', {
        databaseKind: 'pglite',
        include: [...files('acceptance'), 'server/src/db/*.db.test.ts', 'test/conformance/sandbox.*.test.ts'],
        exclude: [onFhirAlone],
      }),
      inFrontOf('fhir'),
      inFrontOf('medplum'),
      project('chaos', { databaseKind: 'postgresql', include: files('chaos') }),
      project('chaos-pglite', {
        databaseKind: 'pglite',
        include: ['test/model/*.chaos.test.ts', 'server/src/appointments/*.chaos.test.ts'],
      }),
    ],
  },
});
