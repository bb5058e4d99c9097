import { models } from './models.ts';
import type { Instant } from './values.ts';

export interface Row {
  readonly id: number;
  readonly create_date: Instant;
  readonly create_uid: number;
  readonly write_date: Instant | null;
  readonly write_uid: number | null;
  readonly [field: string]: unknown;
}

/** The records of all models, by id. */
export class Tables {
  /** Users of the group Calendar Group Administration. */
  readonly calendarAdmins = new Set<number>();
  private readonly rows = new Map<string, Map<number, Row>>();
  private readonly lastIds = new Map<string, number>();

  of(model: string): Map<number, Row> {
    const known = this.rows.get(model);
    if (known) return known;
    const table = new Map<number, Row>();
    this.rows.set(model, table);
    return table;
  }

  /** Ids are never used again. */
  nextId(model: string): number {
    const id = (this.lastIds.get(model) ?? 0) + 1;
    this.lastIds.set(model, id);
    return id;
  }

  put(model: string, row: Row): void {
    this.of(model).set(row.id, row);
  }

  /** The value of a field, or of a field of the record that it names: `party.ref`. */
  valueOf(model: string, row: Row, field: string): unknown {
    const [name = '', ...rest] = field.split('.');
    if (rest.length === 0) return row[name];
    const target = this.targetOf(model, row, name);
    return target && this.valueOf(target.model, target.row, rest.join('.'));
  }

  targetOf(model: string, row: Row, field: string): { readonly model: string; readonly row: Row } | undefined {
    const target = models[model]?.references?.[field];
    const found = target === undefined ? undefined : this.of(target).get(Number(row[field]));
    return target !== undefined && found ? { model: target, row: found } : undefined;
  }

  /** To go back to if a transaction fails. Ids that were given stay given. */
  copy(): ReadonlyMap<string, ReadonlyMap<number, Row>> {
    return new Map([...this.rows].map(([model, table]) => [model, new Map(table)]));
  }

  restore(copy: ReadonlyMap<string, ReadonlyMap<number, Row>>): void {
    this.rows.clear();
    for (const [model, table] of copy) this.rows.set(model, new Map(table));
  }
}
