import { type SerializedConfig, TestRunner } from 'vitest';

/** Runs only tests with the tag `every-ehr`. Vitest's `--tags-filter` would apply to all projects. */
export default class EveryEhrRunner extends TestRunner {
  constructor(config: SerializedConfig) {
    super({ ...config, tagsFilter: ['every-ehr'] });
  }
}
