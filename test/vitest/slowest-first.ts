import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take longest, in this order: a long file that starts last keeps one worker busy and leaves the others without work.
 * Vitest knows only the sizes of files on a machine that has not run them yet.
 */
const slowest = [
  'test/process.chaos.test.ts',
  'test/crash-points/crash-points.chaos.test.ts',
  'test/confirmation-races.chaos.test.ts',
  'test/crash-points/cut-points.chaos.test.ts',
  'test/cuts/cuts.chaos.test.ts',
  'test/conformance/fhir-r4-operations.chaos.test.ts',
  'test/docs/docs.browser.test.ts',
  'server/src/console/sign-in/sign-in-attacks.chaos.test.ts',
  'server/src/console/frame/console.chaos.test.ts',
  'server/src/messages/create-outbox.chaos.test.ts',
  'test/conformance/fhir-r4-medplum.chaos.test.ts',
  'test/document-memory.chaos.test.ts',
  'server/src/patient-page/patient-page.browser.test.ts',
  'test/model/model.chaos.test.ts',
  'server/src/http/waiting-callers.chaos.test.ts',
  'test/plugin-migrations.chaos.test.ts',
  'server/src/appointments/expiry/many-holds.chaos.test.ts',
  'test/fhir/example.chaos.test.ts',
  'test/standby-away.chaos.test.ts',
  'test/workers.chaos.test.ts',
  'test/conformance/fhir-r4.conformance.test.ts',
  'server/src/appointments/ehr-changes/ehr-changes.acceptance.test.ts',
  'test/conformance/rivta-scheduling.conformance.test.ts',
  'server/src/webhooks/deliveries.acceptance.test.ts',
  'test/canary.acceptance.test.ts',
  'server/src/db/migrate.db.test.ts',
  'server/src/db/database.db.test.ts',
];

/** Projects with long files before those with short ones. Workers change the project once, because that loads all modules. */
const projects = ['chaos-pglite', 'chaos-fhir', 'fhir', 'pglite', 'chaos', 'postgresql', 'chaos-medplum', 'unit'];

/** Starts the slowest files of a project first. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const missing = slowest.filter((file) => !existsSync(file));
    if (missing.length > 0) throw new Error(`test/vitest/slowest-first.ts names ${missing.join(', ')}: no such file`);
    const place = (all: readonly string[], name: string) => (all.includes(name) ? all.indexOf(name) : all.length);
    const order = new Map(
      (await super.sort(files)).map((file, index) => {
        const path = relative(this.ctx.config.root, file.moduleId);
        return [file, [place(projects, file.project.name), place(slowest, path), index]] as const;
      }),
    );
    return [...order].toSorted(([, a], [, b]) => compare(a, b)).map(([file]) => file);
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, place) => value !== b[place]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
