import { type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite, TestRunner } from 'vitest';

const tag = 'every-ehr';

/** Keeps only tests with the tag `every-ehr`: with Vitest's `--tags-filter`, the others would count as skipped. */
export default class EveryEhrRunner extends TestRunner {
  #filters = false;

  onBeforeCollect(): void {
    if (this.#filters) return;
    this.#filters = true;
    // Vitest replaces the method, so an override would be called after the tests have been reported.
    const report = this.onCollected;
    this.onCollected = async (files: RunnerTestFile[]) => {
      for (const file of files) keepTagged(file);
      await report?.(files);
    };
  }

  declare onCollected?: (files: RunnerTestFile[]) => unknown;
}

function keepTagged(suite: RunnerTestSuite): boolean {
  suite.tasks = suite.tasks.filter((task) => (task.type === 'suite' ? keepTagged(task) : isTagged(task)));
  return suite.tasks.length > 0;
}

function isTagged({ tags }: RunnerTestCase): boolean {
  return tags?.includes(tag) ?? false;
}
