/**
 * Returns the name of a class for printed objects: `SqliteQueue` for the product SQLite.
 *
 * @param product The name of the product.
 * @param end The end of the name.
 */
export function classNameOf(product: string, end: "Queue" | "Lease"): string {
  return product.charAt(0) + product.slice(1).toLowerCase() + end;
}
