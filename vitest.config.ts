import { defineConfig } from 'vitest/config';

const everywhere = ['server', 'connector-kit', 'connectors', 'client', 'test'].map(
  (folder) => `${folder}/**/*.test.ts`,
);
const onPglite = ['server/src/db/*.test.ts', '**/*.acceptance.test.ts', 'test/model/*.test.ts'];
const onFhir = ['server/**/*.acceptance.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'postgresql',
          include: everywhere,
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
      {
        extends: true,
        test: {
          name: 'fhir',
          include: onFhir,
          globalSetup: 'test/global-setup.ts',
          provide: { databaseKind: 'postgresql', ehrKind: 'fhir' },
        },
      },
      {
        extends: true,
        test: {
          name: 'medplum',
          include: onFhir,
          globalSetup: 'test/global-setup.ts',
          provide: { databaseKind: 'postgresql', ehrKind: 'medplum' },
        },
      },
    ],
  },
});
