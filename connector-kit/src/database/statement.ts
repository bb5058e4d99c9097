import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryExecutorProvider,
  type QueryResult,
} from 'kysely';

/** A query of Kysely's builder or of its `sql` tag. */
interface Query<Row> {
  compile(executor: QueryExecutorProvider): CompiledQuery<Row>;
}

/** What runs a statement: a database or a transaction of Kysely. */
export interface Runner {
  executeQuery<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>>;
}

/** Runs the statement with the values of `input`. */
export type Statement<Input, Row> = (db: Runner, input: Input) => Promise<QueryResult<Row>>;

/** Declares a statement. `build` gets placeholders instead of values, so its text cannot depend on them. */
export type DeclareStatement<Tables> = <Input extends object, Row>(
  build: (db: Kysely<Tables>, input: Input) => Query<Row>,
) => Statement<Input, Row>;

/**
 * Returns a function that declares statements over these tables. A statement is built and compiled once, at its first
 * use, because building costs more processor time than sending. Its text is always the same, so that every connection
 * prepares it once. For lists of varying length, use `= ANY(${list}::text[])`.
 */
export function statementsOf<Tables>(): DeclareStatement<Tables> {
  const builder = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return <Input extends object, Row>(build: (db: Kysely<Tables>, input: Input) => Query<Row>) => {
    let compiled: CompiledQuery<Row> | undefined;
    return (db: Runner, input: Input) => {
      compiled ??= build(builder, placeholders as Input).compile(builder);
      const parameters = compiled.parameters.map((value) =>
        value instanceof Placeholder ? input[value.name as keyof Input] : value,
      );
      return db.executeQuery<Row>({ ...compiled, parameters });
    };
  };
}

/** Stands for a value that is known when the statement runs. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Has a placeholder for each name. */
const placeholders: object = new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) });
