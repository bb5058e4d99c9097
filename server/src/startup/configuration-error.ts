/**
 * What the operator must put right before the gateway can start: in the configuration file, the environment or the
 * data directory. The message has one line a mistake and never holds a secret.
 */
export class ConfigurationError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[], options: { cause?: unknown } = {}) {
    super(mistakes.join('\n'), options);
    this.name = 'ConfigurationError';
    this.mistakes = Object.freeze([...mistakes]);
  }
}
