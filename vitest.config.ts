import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/vitest/slowest-first.ts';

/** Patterns of test files by suffix: `db` matches `foo.db.test.ts`. */
const files = (...suffixes: string[]) =>
  ['server', 'connector-kit', 'connectors', 'client', 'examples', 'release', 'test'].flatMap((folder) =>
    suffixes.map((suffix) => `${folder}/**/*.${suffix}.test.ts`),
  );

const acceptanceFiles = globSync(files('acceptance'), { exclude: ['**/node_modules/**'] });
const acceptanceFilesWith = (text: string) =>
  acceptanceFiles.filter((file) => readFileSync(file, 'utf8').includes(text));

/** The tag of scenarios that run against every kind of EHR. */
const everyEhr = 'every-ehr';
/** The tag of files whose tests do not depend on the database. They run on PostgreSQL only, where gateways start faster. */
const anyDatabase = 'any-database';
/** Tests that run only against FHIR servers. */
const fhirOnly = 'test/fhir/*.acceptance.test.ts';
const fhirOnlyChaos = 'test/fhir/recovery.chaos.test.ts';

/**
 * Where the gateway does most with what a FHIR server says. Our own FHIR server proves the rest of every-ehr, and the conformance
 * kit what another vendor's server does.
 */
const medplumFiles = [
  fhirOnly,
  fhirOnlyChaos,
  'server/src/appointments/state-table.acceptance.test.ts',
  'server/src/appointments/ehr-changes/ehr-changes.acceptance.test.ts',
  'server/src/medical-notes/medical-notes.acceptance.test.ts',
];

/** The kit against the connector that needs no counterpart. Against each other one it runs in the chaos ring. */
const sandboxKit = 'test/conformance/sandbox.conformance.test.ts';
/** Part of what a copy of the template runs: `release/delivery.chaos.test.ts`. */
const templateKit = 'connector-kit/template-booking/src/conformance.test.ts';

const postgresqlAlone = 'server/src/db/{check-statements,failed-connections,gateway-role,pools}.db.test.ts';

interface ProjectOptions {
  readonly databaseKind: 'postgresql' | 'pglite';
  readonly ehrKind?: 'sandbox' | 'fhir' | 'medplum';
  readonly include: string[];
  readonly exclude?: readonly string[];
}

function project(name: string, { databaseKind, ehrKind = 'sandbox', include, exclude = [] }: ProjectOptions) {
  return {
    extends: true as const,
    test: {
      name,
      include,
      exclude: [...configDefaults.exclude, ...exclude],
      provide: { databaseKind, ehrKind },
      ...(ehrKind === 'sandbox' ? {} : { runner: 'test/vitest/every-ehr-runner.ts' }),
    },
  };
}

const unit = {
  extends: true as const,
  test: {
    name: 'unit',
    include: ['{server,connector-kit,connectors,client,examples,bench,release,test}/**/*.test.ts'],
    exclude: [
      ...configDefaults.exclude,
      templateKit,
      ...files(
        'db',
        'process',
        'conformance',
        'acceptance',
        'chaos',
        'browser',
        'python',
        'java',
        'gnuhealth',
        'deploy',
      ),
    ],
  },
};

export default defineConfig({
  test: {
    globalSetup: 'test/vitest/global-setup.ts',
    setupFiles: 'test/vitest/fixed-seed.ts',
    // Long, for busy machines. Tests wait for conditions, so long limits do not slow them down. Longer than each wait in a
    // test, so that a failure names the condition that was not met.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // More workers than cores, because tests spend about half their time waiting for databases, processes and timers.
    // Two cores were idle for a quarter of the time with four.
    maxWorkers: Math.max(5, availableParallelism()),
    // The files of a worker share one process, so modules and the data of FHIR servers are loaded once.
    isolate: false,
    // Less work for the collector of garbage, as for the gateway: `server/node.sh`. Processor time: 2 to 5 % less.
    execArgv: ['--max-semi-space-size=32', '--no-parallel-scavenge'],
    sequence: { sequencer: SlowestFirst },
    tags: [
      { name: everyEhr, description: 'runs against the sandboxes and each FHIR server' },
      { name: anyDatabase, description: 'runs on PostgreSQL only' },
    ],
    projects: [
      unit,
      project('postgresql', {
        databaseKind: 'postgresql',
        include: [...files('db', 'process', 'acceptance'), sandboxKit],
        exclude: [fhirOnly],
      }),
      project('python', { databaseKind: 'postgresql', include: files('python') }),
      project('java', { databaseKind: 'postgresql', include: files('java') }),
      project('gnuhealth', { databaseKind: 'postgresql', include: files('gnuhealth') }),
      project('deploy', { databaseKind: 'postgresql', include: files('deploy') }),
      project('chaos', {
        databaseKind: 'postgresql',
        include: files('chaos', 'browser', 'conformance'),
        exclude: [fhirOnlyChaos, sandboxKit],
      }),
      project('chaos-fhir', {
        databaseKind: 'postgresql',
        ehrKind: 'fhir',
        include: [...acceptanceFilesWith(`'${everyEhr}'`), fhirOnly, fhirOnlyChaos],
      }),
      project('chaos-medplum', { databaseKind: 'postgresql', ehrKind: 'medplum', include: medplumFiles }),
      project('chaos-pglite', {
        databaseKind: 'pglite',
        include: [
          ...files('acceptance'),
          'server/src/{db,history}/*.db.test.ts',
          'test/model/*.chaos.test.ts',
          sandboxKit,
          'server/src/appointments/concurrent-codes.chaos.test.ts',
        ],
        exclude: [fhirOnly, postgresqlAlone, ...acceptanceFilesWith(`@module-tag ${anyDatabase}`)],
      }),
    ],
  },
});
