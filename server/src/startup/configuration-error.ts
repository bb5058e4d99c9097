/**
 * A mistake that the operator must fix before the gateway can start: in the configuration file, the environment or the
 * data directory. The message has one line for each mistake and never contains a secret.
 */
export class ConfigurationError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[], options: { cause?: unknown } = {}) {
    super(mistakes.join('\n'), options);
    this.name = 'ConfigurationError';
    this.mistakes = Object.freeze([...mistakes]);
  }
}
