import {
  type CallToolResult,
  fromJsonSchema,
  type JsonSchemaType,
  type jsonSchemaValidator,
  type McpServer,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import type { Static, TObject } from 'typebox';
import { once } from '../http/once.ts';
import { describeError } from '../log/describe-error.ts';
import { checkArguments } from './arguments.ts';
import type { Desk } from './desk.ts';
import { internalError, refusalFor } from './refusal.ts';
import { strictObject, time } from './shapes.ts';

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

/** Leaves the arguments to `checkArguments`, whose refusals say what to do. */
const anyInput: jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
};

/**
 * The tool answers with a result and the present time, which a model does not know, or with a reason and what to do next. The
 * log has no argument and no result.
 */
export function tool<Input extends TObject, Output extends TObject>(facts: ToolFacts<Input, Output>): Tool {
  const { name, title, description, hints: annotations, input, output, run } = facts;
  // Each request has a server of its own, and compiling the schemas of all tools takes longer than the rest of it.
  const schemas = once(() => ({
    inputSchema: fromJsonSchema(input as JsonSchemaType, anyInput),
    outputSchema: fromJsonSchema(strictObject({ ...output.properties, now: time }) as JsonSchemaType),
  }));
  return (server, desk, log) => {
    const answer = async (given: unknown): Promise<CallToolResult> => {
      const started = performance.now();
      const logCall = (outcome: string) =>
        log.info({ tool: name, outcome, duration_ms: Math.round(performance.now() - started) }, 'tool called');
      try {
        const args = checkArguments(input, given);
        const result = { ...(await run(args as Static<Input>, desk)), now: await desk.now() };
        logCall('success');
        return {
          structuredContent: result,
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
    server.registerTool(name, { title, description, annotations, ...schemas() }, answer);
  };
}
