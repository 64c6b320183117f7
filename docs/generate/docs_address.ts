import { filesAddress } from "../../release/project.ts";

/** Returns the source of the module with which the dashboard refers to sections of the docs. */
export function docsAddress(): string {
  return `\
/** Address of the docs of this version, or their folder in the repository until the repository has an address. */
export const DOCS = "${filesAddress() ?? ""}docs/";
`;
}
