/** What the command line ends with. */
export const exitCodes = { fine: 0, failed: 1, wrongUsage: 2 } as const;

/** What whoever typed the command has to put right. The message is for them. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
