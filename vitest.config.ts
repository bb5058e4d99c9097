import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const everywhere = ['server', 'connector-kit', 'connectors', 'client', 'test'].map(
  (folder) => `${folder}/**/*.test.ts`,
);
const onPglite = [
  'server/src/db/*.test.ts',
  '**/*.acceptance.test.ts',
  'test/conformance/sandbox.conformance.test.ts',
  'test/model/*.test.ts',
];
/** What stands in a FHIR server after what was asked of the gateway. */
const onFhirAlone = 'test/fhir/in-the-server.acceptance.test.ts';
const onFhir = ['server/**/*.acceptance.test.ts', onFhirAlone];
/** The gateway's own HTTP, and its guard: what is behind them makes no difference. */
const notOnFhir = ['server/src/http/protocol.acceptance.test.ts', 'server/src/ehr/**'];

/** They begin with more EHRs than Medplum's router makes in time: our own server is FHIR enough for them. */
const notOnMedplum = ['ehrs-that-stay-away', 'ehrs-that-finish-late', 'second-attempts'].map(
  (name) => `server/src/appointments/${name}.*.test.ts`,
);

/** The files of a worker share one process: what the FHIR servers begin with is made once. */
function beforeFhirServers(ehrKind: 'fhir' | 'medplum') {
  return {
    extends: true as const,
    test: {
      name: ehrKind,
      isolate: false,
      include: onFhir,
      exclude: [...configDefaults.exclude, ...notOnFhir, ...(ehrKind === 'medplum' ? notOnMedplum : [])],
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
    projects: [
      {
        extends: true,
        test: {
          name: 'postgresql',
          include: everywhere,
          exclude: [...configDefaults.exclude, onFhirAlone],
          globalSetup: 'test/global-setup.ts',
          provide: { databaseKind: 'postgresql', ehrKind: 'sandbox' },
        },
      },
      {
        extends: true,
        test: {
          name: 'pglite',
          include: onPglite,
          globalSetup: 'test/global-setup.ts',
          provide: { databaseKind: 'pglite', ehrKind: 'sandbox' },
        },
      },
      beforeFhirServers('fhir'),
      beforeFhirServers('medplum'),
    ],
  },
});
