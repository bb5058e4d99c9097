/** Exit codes of the command line. */
export const exitCodes = { fine: 0, failed: 1, wrongUsage: 2 } as const;

/** Wrong usage of a command. The message is shown to the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
