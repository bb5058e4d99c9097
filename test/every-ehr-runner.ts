import { type SerializedConfig, TestRunner } from 'vitest';

/** Runs what is tagged `every-ehr`; Vitest's own `--tags-filter` holds for all projects at once. */
export default class EveryEhrRunner extends TestRunner {
  constructor(config: SerializedConfig) {
    super({ ...config, tagsFilter: ['every-ehr'] });
  }
}
