// Package catalog holds what is known of vendors, as data: base URLs, how a
// key is sent, family, default model patterns, and how their failures look; and
// of models: kind, context window, list prices. It imports llm and failure; it
// is read-only after Load and LoadModels.
//
// Adding a vendor is one file, vendors/<id>.yaml, and no Go. The folder is the
// list. Its fields:
//
//	id        the file's name, and what Provider.vendor says
//	title     as shown to people
//	types     provider types that this entry serves by itself; an entry
//	          without any is chosen by Provider.vendor
//	takesVendor  a provider of such a type may name a vendor all the same
//	family    model family; empty for a host of many
//	patterns  default model patterns of the implicit route; empty is "*"
//	keyless   serves without a key
//	env       variables in which people keep its key; with each a provider is
//	          made at the first start of a server without configuration
//	try       a cheap model for a first request; goes with env
//	source    where the signals come from, and
//	observed  when they were last checked (a signal may have its own of both)
//	formats   one entry for each wire format that it serves:
//	  baseUrl   without the format's own path; see Vendor.BaseURL
//	  header    in which the key goes, lower case
//	  prefix    what stands before the key ("Bearer ")
//	  family, patterns  if they differ from the vendor's
//	signals   rows of package failure, most specific first; id without the
//	          vendor's name. Text and patterns are lower case
//
// After a line "---" comes a second document, which only tests read:
//
//	tests     example answers; each signal needs one that it decides:
//	  name      free text
//	  signal    the id of the row that decides; generic/<id> for a generic
//	            one; "status" if the HTTP status alone decides
//	  status, headers, body  the answer
//	  stream    body is the data of one server-sent event
//	  want      the category
//	  contextLength  as failure.Failure has it
//	  retryAfter     the time from ExampleNow; none if absent
//
// generic.yaml has the same form. Its rows follow those of every vendor, and it
// serves openai-compatible providers that name none.
//
// The table of models is data as well: models/<family or host>.yaml, a row for each
// model. The fields of a file:
//
//	source    where the prices are from, and
//	observed  when it was read (a row may have its own of both)
//	vendor    in a host's file: its rows are for this vendor only
//	pricedFor vendors that charge these prices; for others they are estimates
//	family, modality  of rows that have none
//	models    a row for each model:
//	  name      exact and in lower case, without what says where it is served;
//	            or a pattern, which has modality and family only
//	  aliases   other exact names of it
//	  modality, family, contextWindow, maxOutputTokens, prices
//	  above     tokens, and prices of requests with a longer prompt
//
// What is not known is left out; a price is never guessed and never 0.
package catalog
