/** Limits far above what any endpoint needs. They bound the time and memory that a JSON body costs, and what a patch makes. */
export const bodyLimits = { depth: 32, values: 2000 } as const;
