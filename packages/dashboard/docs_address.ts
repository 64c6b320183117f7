/** Address of the docs of this version, or their folder in the repository until the repository has an address. */
export const DOCS = "docs/";
