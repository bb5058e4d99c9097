import { defineConfig } from 'vitest/config';

const everywhere = ['server', 'connector-kit', 'connectors', 'client', 'test'].map(
  (folder) => `${folder}/**/*.test.ts`,
);
const onPglite = ['server/src/db/*.test.ts', '**/*.acceptance.test.ts', 'test/model/*.test.ts'];

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
          provide: { databaseKind: 'postgresql' },
        },
      },
      {
        extends: true,
        test: {
          name: 'pglite',
          include: onPglite,
          globalSetup: 'test/global-setup.ts',
          provide: { databaseKind: 'pglite' },
        },
      },
    ],
  },
});
