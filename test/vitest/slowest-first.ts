import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds that slow files took when `npm run test-times` was last run. */
const times: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(new URL('times.json', import.meta.url), 'utf8'),
);

/** Projects with long files before those with short ones. Workers change the project once, because that loads all modules. */
const projects = ['chaos-pglite', 'chaos-fhir', 'chaos', 'postgresql', 'chaos-medplum', 'unit'];

/**
 * Starts the slowest files of a project first: a long file that starts last keeps one worker busy and leaves the others without
 * work. Vitest knows only the sizes of files on a machine that has not run them yet.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project: { name } }: TestSpecification) =>
      projects.includes(name) ? projects.indexOf(name) : projects.length;
    const seconds = ({ moduleId }: TestSpecification) => times[relative(this.ctx.config.root, moduleId)] ?? 0;
    // The sort is stable, and keeps Vitest's order of files without a time.
    return (await super.sort(files)).sort((a, b) => place(a) - place(b) || seconds(b) - seconds(a));
  }
}
