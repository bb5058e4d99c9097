import { type CallToolResult, fromJsonSchema, type JsonSchemaType, type McpServer } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import type { Static, TObject } from 'typebox';
import { withoutNationalNumbers } from '../identifiers/index.ts';
import { isUuid } from '../identifiers/uuid.ts';
import { describeError } from '../log/describe-error.ts';
import type { Desk } from './desk.ts';
import { internalError, personalNumberRefused, refusalFor } from './refusal.ts';

/** What a host may show of a tool. Hints are no safeguard. */
export const hints = {
  reads: { readOnlyHint: true },
  books: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  changes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  sends: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
} as const;

/** A tool of the Model Context Protocol. */
export interface ToolFacts<Input extends TObject, Output extends TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly hints: (typeof hints)[keyof typeof hints];
  readonly input: Input;
  readonly output: Output;
  /** @throws Refusal, or an error of the client */
  run(input: Static<Input>, desk: Desk): Promise<Static<Output>>;
}

/** Adds a tool to a server. */
export type Tool = (server: McpServer, desk: Desk, log: Logger) => void;

/** The tool answers with a result, or with a reason and what to do next. The log has no argument and no result. */
export function tool<Input extends TObject, Output extends TObject>(facts: ToolFacts<Input, Output>): Tool {
  const { name, title, description, hints: annotations, input, output, run } = facts;
  return (server, desk, log) => {
    const answer = async (args: Static<Input>): Promise<CallToolResult> => {
      const started = performance.now();
      const logCall = (outcome: string) =>
        log.info({ tool: name, outcome, duration_ms: Math.round(performance.now() - started) }, 'tool called');
      try {
        refuseNationalNumbers(args as Readonly<Record<string, unknown>>);
        const result = await run(args, desk);
        logCall('success');
        return {
          structuredContent: result as Record<string, unknown>,
          content: [{ type: 'text', text: JSON.stringify(result) }],
        };
      } catch (error) {
        const refusal = refusalFor(error);
        if (!refusal) log.error({ tool: name, error: describeError(error) }, 'tool failed');
        const { reason, next } = refusal ?? internalError;
        logCall(reason);
        return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error: reason, next }) }] };
      }
    };
    server.registerTool(
      name,
      {
        title,
        description,
        annotations,
        inputSchema: fromJsonSchema<Static<Input>>(input as JsonSchemaType),
        outputSchema: fromJsonSchema<Static<Output>>(output as JsonSchemaType),
      },
      answer,
    );
  };
}

/** @throws Refusal if an argument looks like a national number. A UUID and a sealed reference can by chance */
function refuseNationalNumbers(args: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(args)) {
    if (typeof value !== 'string' || name.endsWith('_ref') || isUuid(value.replace(/^cw-/, ''))) continue;
    if (withoutNationalNumbers(value) !== value) throw personalNumberRefused;
  }
}
